"""The runner: grid -> cells -> engine -> store."""
