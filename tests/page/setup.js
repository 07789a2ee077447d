// Lets the page's modules be imported without a server: what it writes is replaced by the files here.
import { register } from "node:module";

const hooks = `
export async function resolve(specifier, context, next) {
  const stand_in = /^\\.\\.\\/(artwork|sentences|words\\/de)\\.js$/.exec(specifier);
  if (!stand_in) return next(specifier, context);
  return next(new URL(stand_in[1].replace("/", "-") + ".js", ${JSON.stringify(new URL(".", import.meta.url).href)}).href);
}`;

register(`data:text/javascript,${encodeURIComponent(hooks)}`);
