// The page for an unknown address: it has the settings like every other page, and nothing else.
import "./shell.js";
