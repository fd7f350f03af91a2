"""The version, for reports and saved schedules. (Reading it from the package's metadata takes 40 ms at start.)"""

VERSION = "0.1.0"
