"""What the emulated kernel can be asked, by subject: a module each, with functions under ``@call``."""
