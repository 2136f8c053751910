// C0 and C1 controls, line and paragraph separators, and the marks that turn the direction of text around.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' }

/** Characters that a terminal would obey, or that would break a row apart, written as escapes. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (char) => NAMED[char] ?? escapeCode(char))
}

function escapeCode(char: string): string {
  const code = char.charCodeAt(0)
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`
}

// JSON.stringify escapes C0 only; as \uNNNN the rest is still the same JSON.
const UNSAFE_IN_JSON = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** JSON text that a terminal does not obey. */
export function escapeControlsInJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Text of several lines, which keeps its line ends and loses everything else that a terminal obeys. */
export function escapeControlsInLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n')
}

const ASCII_ONLY = /^[\u0020-\u007e]*$/
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]$|^\p{Emoji_Presentation}$|^[\u{20000}-\u{3fffd}]$/u

/** Columns that text takes on a terminal, without styles in it. */
export function displayWidth(text: string): number {
  if (ASCII_ONLY.test(text)) return text.length
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

function charWidth(char: string): number {
  if (ZERO_WIDTH.test(char)) return 0
  return WIDE.test(char) ? 2 : 1
}

/** Text cut to a number of columns, with an ellipsis where something is missing. */
export function truncate(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  let kept = ''
  let width = 1
  for (const char of text) {
    width += charWidth(char)
    if (width > columns) break
    kept += char
  }
  return `${kept}…`
}
