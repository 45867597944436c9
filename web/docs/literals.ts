/** The syntax of a language for JSON values. */
interface Style {
  indent: string;
  text(value: string): string;
  name(value: string): string;
  words: readonly [yes: string, no: string, nothing: string];
  /** The space inside the braces of an object on one line. */
  pad: string;
}

const quoted = (value: string): string => JSON.stringify(value);
const inSingleQuotes = (value: string): string => `'${value.replace(/[\\']/g, '\\$&')}'`;

const javascript: Style = {
  indent: '  ',
  text: inSingleQuotes,
  name: (value) => (/^[A-Za-z_]\w*$/.test(value) ? value : inSingleQuotes(value)),
  words: ['true', 'false', 'null'],
  pad: ' ',
};
const python: Style = { indent: '    ', text: quoted, name: quoted, words: ['True', 'False', 'None'], pad: '' };

/** The widest object or list that stays on one line: the samples are in a narrow column. */
const maxWidth = 44;

/** A value of JSON as TypeScript. Lines after the first start with `margin`. */
export const typescriptLiteral = (value: unknown, margin = ''): string => literal(value, javascript, margin);
/** A value of JSON as Python. */
export const pythonLiteral = (value: unknown, margin = ''): string => literal(value, python, margin);

function literal(value: unknown, style: Style, margin: string): string {
  const { indent, text, name, words, pad } = style;
  if (value === null) return words[2];
  if (typeof value === 'boolean') return value ? words[0] : words[1];
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object') return String(value);
  const inside = (at: string): string[] =>
    Array.isArray(value)
      ? value.map((one) => literal(one, style, at))
      : Object.entries(value).map(([key, one]) => `${name(key)}: ${literal(one, style, at)}`);
  const [open, close, space] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', pad];
  const parts = inside(margin + indent);
  const line = parts.length === 0 ? open + close : open + space + parts.join(', ') + space + close;
  if (line.length <= maxWidth && !line.includes('\n')) return line;
  return [open, ...parts.map((part) => `${margin}${indent}${part},`), margin + close].join('\n');
}

/** JSON with an indent of two spaces; small objects stay on one line. */
export function jsonText(value: object): string {
  return JSON.stringify(value, null, 2).replace(/\{\n\s+[^{}[\]]{1,140}?\n\s*\}/g, (object) => {
    const line = object.replace(/\s*\n\s*/g, ' ');
    return line.length <= maxWidth ? line : object;
  });
}
