import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The two messages that Debian's package of SpamAssassin has as examples, with CRLF line ends. */
export interface SpamAssassinSamples {
  readonly spam: string
  /** A newsletter of 2001. */
  readonly ham: string
}

/** Downloads the package, without installing it. @throws where apt-get does not find it */
export function loadSpamAssassinSamples(): SpamAssassinSamples {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-spamassassin-'))
  const run = (...command: string[]) => {
    const ran = Bun.spawnSync(command, { cwd: folder })
    if (!ran.success) throw new Error(`${command.join(' ')}: ${ran.stderr}`)
  }
  const read = (name: string) =>
    readFileSync(join(folder, 'usr/share/doc/spamassassin/examples', name), 'utf8').replace(/\r?\n/g, '\r\n')
  try {
    run('apt-get', 'download', '--quiet', '--quiet', 'spamassassin')
    run('dpkg-deb', '--extract', ...readdirSync(folder), '.')
    return { spam: read('sample-spam.txt'), ham: read('sample-nonspam.txt') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
