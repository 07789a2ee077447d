// A page that is not there has the settings like every other.
import "./shell.js";
