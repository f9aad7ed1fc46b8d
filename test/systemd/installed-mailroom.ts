import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How the installed Mailroom below a folder is reached, on the network of its machine. */
export interface InstalledMailroom {
  readonly base: string
  /** The first key. */
  readonly key: string
  readonly databaseUrl: string
  /** Requests from the API. @throws when it refuses. */
  ask<Answer>(method: string, path: string, body?: object): Promise<Answer>
}

export function openInstalled(folder: string): InstalledMailroom {
  const base = 'http://127.0.0.1:8080'
  const { key } = JSON.parse(readFileSync(join(folder, 'etc/mailroom/first-key.json'), 'utf8')) as { key: string }
  const url = readFileSync(join(folder, 'etc/mailroom/credentials/database_url'), 'utf8').trim()
  return {
    base,
    key,
    databaseUrl: url.replace('=/run/', `=${folder}/run/`),
    async ask<Answer>(method: string, path: string, body?: object) {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
      return (await response.json()) as Answer
    },
  }
}
