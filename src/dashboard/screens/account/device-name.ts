const systems = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Android', /Android/],
  ['Mac', /Macintosh|Mac OS/],
  ['Windows', /Windows/],
  ['ChromeOS', /CrOS/],
  ['Linux', /Linux/],
] as const

// In this order: most browsers name others as well.
const browsers = [
  ['Edge', /Edg\//],
  ['Opera', /OPR\//],
  ['Firefox', /Firefox\/|FxiOS/],
  ['Chrome', /Chrome\/|CriOS/],
  ['Safari', /Safari\//],
] as const

/** Browser and system of a User-Agent, as people call them: "Firefox on Linux"; its beginning, where it is another. */
export function deviceName(userAgent: string): string {
  const find = (names: readonly (readonly [string, RegExp])[]) => names.find(([, form]) => form.test(userAgent))?.[0]
  const named = [find(browsers), find(systems)].filter(name => name !== undefined)
  return named.length > 0 ? named.join(' on ') : userAgent.slice(0, 60)
}
