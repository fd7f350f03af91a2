"""The version, for reports and saved schedules (looking it up in the package's metadata would cost 40 ms at start)."""

VERSION = "0.1.0"
