"""The engine at work for the server, in processes of its own."""
