from .pipeline import make_pipeline

__all__ = ["make_pipeline"]
