"""Shapes of the vision tower and its projector, under the names of a checkpoint's ``vision_config``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from kimi_sdk.errors import ConfigError

# What the code computes, by key; any other value means another model.
FIXED: Mapping[str, tuple[Any, ...]] = {
    "pos_emb_type": ("divided_fixed",),
    "pos_emb_interpolation_mode": ("bilinear",),
    "mlp_type": ("mlp2",),
    "activation_func": ("gelu_pytorch_tanh",),
    "norm_type": ("rmsnorm",),
    "attn_bias": (False,),
    "linear_bias": (False,),
    "patch_embed_proj_bias": (False,),
    "merge_type": ("sd2_tpool",),
    "mm_projector_type": ("patchmergerv2",),
    "projector_hidden_act": ("gelu",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionConfig:
    """Defaults are K3's.

    Attributes:
        patch_size: pixels on a patch's side.
        init_pos_emb_height: rows of the learned position grid; ``_width`` columns, ``_time`` most frames.
        vt_hidden_size: width of the tower.
        qkv_hidden_size: width of q, of k and of v, all heads together.
        vt_intermediate_size: width inside the MLP.
        merge_kernel_size: patches (rows, columns) that become one token.
        mm_hidden_size: the projector's input width for one patch.
        text_hidden_size: its output width, that of the language model.
        vt_norm_eps: of the tower's RMSNorm. The released code names none; this is PyTorch's for float32.
        extra: keys that are kept and not used.
    """

    patch_size: int = 14
    init_pos_emb_height: int = 64
    init_pos_emb_width: int = 64
    init_pos_emb_time: int = 4
    vt_hidden_size: int = 1024
    vt_num_hidden_layers: int = 27
    vt_num_attention_heads: int = 12
    qkv_hidden_size: int = 1536
    vt_intermediate_size: int = 4096
    merge_kernel_size: tuple[int, int] = (2, 2)
    mm_hidden_size: int = 1024
    text_hidden_size: int = 7168
    projector_ln_eps: float = 1e-5
    vt_norm_eps: float = 1.1920929e-07
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for item in fields(self):
            if item.name == "extra":
                continue
            value = getattr(self, item.name)
            kinds = (int, float) if item.name.endswith("_eps") else (int,)
            if any(
                not isinstance(n, kinds) or isinstance(n, bool) or not 0 < n < 2**31
                for n in (value if isinstance(value, tuple) else (value,))
            ):
                wanted = "a positive number" if float in kinds else "a positive whole number"
                raise ConfigError(f"vision_config.{item.name} must be {wanted}, not {value!r}.")
        if len(self.merge_kernel_size) != 2:
            raise ConfigError(
                f"vision_config.merge_kernel_size must be rows and columns, not {self.merge_kernel_size!r}."
            )
        if self.qkv_hidden_size % (4 * self.vt_num_attention_heads):
            raise ConfigError(
                f"vision_config.qkv_hidden_size ({self.qkv_hidden_size}) must be "
                f"{self.vt_num_attention_heads} heads of a multiple of 4: a 2-D rotation turns pairs."
            )
        if self.vt_hidden_size % 2 or self.mm_hidden_size != self.vt_hidden_size:
            raise ConfigError(
                f"vision_config.mm_hidden_size ({self.mm_hidden_size}) must equal vt_hidden_size "
                f"({self.vt_hidden_size}), an even number."
            )
        for key, allowed in FIXED.items():
            if key in self.extra and self.extra[key] not in allowed:
                raise ConfigError(
                    f"vision_config.{key} is {self.extra[key]!r}; only {allowed[0]!r} is supported."
                )

    @property
    def head_dim(self) -> int:
        return self.qkv_hidden_size // self.vt_num_attention_heads

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read a ``vision_config``; unknown keys are kept in ``extra``.

        Raises:
            ConfigError: names the key whose value this code does not compute.
        """
        known = {item.name for item in fields(cls)} - {"extra"}
        given = {key: value for key, value in data.items() if key in known}
        if "merge_kernel_size" in given:
            merge = given["merge_kernel_size"]
            given["merge_kernel_size"] = (merge, merge) if isinstance(merge, int) else tuple(merge)
        return cls(**given, extra={key: value for key, value in data.items() if key not in known})

    def to_dict(self) -> dict[str, Any]:
        """The ``vision_config`` that ``from_dict`` reads back."""
        own = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "extra"}
        own["merge_kernel_size"] = list(self.merge_kernel_size)
        return {**{key: allowed[0] for key, allowed in FIXED.items()}, **self.extra, **own}
