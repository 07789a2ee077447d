"""Boards and positions solved in bulk, on this machine or a cluster, as tables in Parquet."""
