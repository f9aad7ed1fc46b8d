import { expect, test } from 'bun:test'
import { contentDisposition } from './file-response.ts'

const names: Readonly<Record<string, string>> = {
  'report.pdf': `attachment; filename="report.pdf"; filename*=UTF-8''report.pdf`,
  'a "b".txt': `attachment; filename="a _b_.txt"; filename*=UTF-8''a%20%22b%22.txt`,
  '../../etc/passwd': `attachment; filename="__.._etc_passwd"; filename*=UTF-8''__.._etc_passwd`,
  'x\r\nSet-Cookie: a=b': `attachment; filename="x__Set-Cookie: a=b"; filename*=UTF-8''x__Set-Cookie%3A%20a%3Db`,
  'gpj.\u202Eexe': `attachment; filename="gpj._exe"; filename*=UTF-8''gpj._exe`,
  'a\0b': `attachment; filename="a_b"; filename*=UTF-8''a_b`,
  'Übersicht (1).txt': `attachment; filename="_bersicht (1).txt"; filename*=UTF-8''%C3%9Cbersicht%20%281%29.txt`,
  'half \ud800': `attachment; filename="half _"; filename*=UTF-8''half%20%EF%BF%BD`,
}

for (const [name, header] of Object.entries(names))
  test(`names a download ${JSON.stringify(name)}`, () => expect(contentDisposition(name)).toBe(header))
