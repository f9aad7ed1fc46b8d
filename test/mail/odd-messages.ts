// Messages as nobody should write them, for the comparison of two readings.

/** A number from 0 to below `count`, the same sequence for a seed: mulberry32. */
export type Pick = (count: number) => number

export function pickFrom(seed: number): Pick {
  let state = seed
  return count => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * count) | 0
  }
}

const one = <Value>(pick: Pick, values: readonly [Value, ...Value[]]): Value => values[pick(values.length)] ?? values[0]

const maxDepth = 6

/** A message of nested and broken parts: any delimiter may be missing, wrong or padded, any line end may be any. */
export function oddMessage(pick: Pick): Buffer {
  const eol = one(pick, ['\r\n', '\r\n', '\n', 'mixed'] as const)
  const text = `From: a@x.test\r\nSubject: odd\r\n${entity(pick, 0, [])}`
  const lines = eol === 'mixed' ? text.replace(/\r\n/g, () => one(pick, ['\r\n', '\n', '\r\n', '\r\r\n'])) : text
  return Buffer.from(eol === '\n' ? lines.replaceAll('\r\n', '\n') : lines, 'latin1')
}

/** A header, mostly with an empty line at its end, and a body. `outer`: the boundaries around it. */
function entity(pick: Pick, depth: number, outer: readonly string[]): string {
  const kind = depth < maxDepth ? pick(10) : 5 + pick(5)
  if (kind < 4) return multipart(pick, depth, outer)
  if (kind === 4) return embedded(pick, depth, outer)
  const type = one(pick, [
    'text/plain',
    'text/plain; charset=utf-8',
    'text/html; charset=iso-8859-1',
    'text/plain; format=flowed; delsp=yes',
    'text/plain; boundary=b',
    'application/pdf; name="a.pdf"',
    'image/png; name=b.png',
    'application/octet-stream',
    'message/delivery-status',
    'text',
  ])
  const encoding = one(pick, [
    '7bit',
    '8bit',
    'binary',
    'base64',
    'base64',
    'quoted-printable',
    'x-uuencode',
    'what',
    '',
  ])
  const fields = [
    `Content-Type: ${type}`,
    ...(encoding === '' ? [] : [`Content-Transfer-Encoding: ${encoding}`]),
    ...(pick(3)
      ? []
      : [one(pick, ['Content-Disposition: attachment', 'Content-Disposition: inline; filename="c.txt"'])]),
    ...(pick(5) ? [] : ['Content-ID: <c@x.test>']),
  ]
  return `${headerOf(pick, fields)}${bodyOf(pick, encoding, outer)}`
}

function headerOf(pick: Pick, fields: readonly string[]): string {
  const end = one(pick, ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', ' \r\n', '', 'no field\r\n'])
  return `${fields.join('\r\n')}\r\n${end}`
}

function embedded(pick: Pick, depth: number, outer: readonly string[]): string {
  const disposition = one(pick, ['inline', 'attachment', 'inline; filename=m.eml'])
  const fields = ['Content-Type: message/rfc822', `Content-Disposition: ${disposition}`]
  return `${headerOf(pick, fields)}From: c@x.test\r\nDate: Thu, 1 Jan 2026 00:00:00 +0000\r\n${entity(pick, depth + 1, outer)}`
}

/** Some are prefixes of others, which their delimiters must not be taken for. */
const boundaries = ['b', 'bb', 'b-', 'b--', '=_1', '=_1.2', 'b c', 'b '] as const

function multipart(pick: Pick, depth: number, outer: readonly string[]): string {
  const boundary = one(pick, boundaries)
  const subtype = one(pick, ['mixed', 'alternative', 'related', 'report', ''])
  const type = one(pick, [
    `multipart/${subtype}; boundary="${boundary}"`,
    `multipart/${subtype}; boundary="${boundary}"`,
    'multipart/mixed',
  ])
  const inner = [...outer, boundary]
  let text = headerOf(pick, [`Content-Type: ${type}`])
  if (!pick(3)) text += textOf(pick, inner)
  for (let parts = pick(4); parts >= 0; parts--)
    text += delimiter(pick, boundary, '') + entity(pick, depth + 1, inner) + lineEnd(pick)
  if (pick(5)) text += delimiter(pick, boundary, '--')
  if (!pick(3)) text += textOf(pick, inner)
  return text
}

function lineEnd(pick: Pick): string {
  return one(pick, ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n\r\n', '', '\r', '\n'])
}

function delimiter(pick: Pick, boundary: string, closing: string): string {
  const before = one(pick, ['', '', '', '', '', '', '\r', ' ', '\n', '\r\r'])
  const padding = one(pick, ['', '', '', '', ' ', '\t ', '-', '\r', 'x'])
  return `${before}--${boundary}${closing}${padding}\r\n`
}

function bodyOf(pick: Pick, encoding: string, outer: readonly string[]): string {
  switch (encoding) {
    case 'base64':
      return base64(pick)
    case 'quoted-printable':
      return `caf=C3=A9 =\r\nand =3D =zz = =\r\n${textOf(pick, outer)}=`
    case 'x-uuencode':
      return `begin 644 a\r\n#0V%T\r\n\`\r\nend\r\n${pick(2) ? '' : textOf(pick, outer)}`
    default:
      return pick(6) ? textOf(pick, outer) : one(pick, ['', '\r\n', '\n', '\r\n\r\n', '\r', '-', '--'])
  }
}

function base64(pick: Pick): string {
  const bytes = Buffer.from(Array.from({ length: pick(pick(9) ? 200 : 3000) }, () => pick(256)))
  const width = one(pick, [76, 60, 75, 1, 9999])
  const lines = bytes.toString('base64').replace(new RegExp(`.{${width}}`, 'g'), '$&\r\n')
  const at = pick(lines.length + 1)
  const oddity = one(pick, [
    '',
    '',
    '',
    '',
    '=',
    '==',
    '-',
    '_',
    '\u0000',
    '!',
    ' \t',
    '\xc1',
    '----\r\n',
    '=QUJD',
    '\r\n\r\n',
  ])
  return lines.slice(0, at) + oddity + lines.slice(at)
}

function textOf(pick: Pick, outer: readonly string[]): string {
  let text = ''
  for (let lines = pick(6); lines >= 0; lines--) text += lineOf(pick, outer) + lineEnd(pick)
  return text
}

function lineOf(pick: Pick, outer: readonly string[]): string {
  const boundary = outer[pick(outer.length)] ?? 'none'
  return one(pick, [
    'some words',
    'field: or not',
    '',
    '-- ',
    '--',
    '-',
    '---------- Forwarded message',
    `--${boundary}x`,
    ` --${boundary}`,
    `x\r--${boundary}`,
    `x--${boundary}`,
    `--${boundary}-`,
    `--${boundary.slice(0, -1)}`,
    'Gr\xfc\xdfe \xc3\xa9 \u0000',
    `${'x'.repeat(pick(500))} long`,
    `--${'-'.repeat(pick(500))}`,
  ])
}
