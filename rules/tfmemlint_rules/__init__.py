"""The rules that come with tfmemlint, one module each; `ls` is the table of contents."""
