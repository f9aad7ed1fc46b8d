import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createKey } from '../accounts/keys/keys.ts'
import { createOrganization, listOrganizations } from '../accounts/organizations/organizations.ts'
import { systemClock } from '../base/clock.ts'
import { readConfig } from '../base/config/config.ts'
import { type Db, openDatabase } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { CommandError } from '../base/operator-error.ts'
import { serve } from '../main.ts'
import { type Command, type Environment, readArguments } from './command.ts'
import { createDemo, isKeyValid } from './demo.ts'
import { defaultScopes } from './key.ts'
import { clamavFolder, installedSignatures, startClamd } from './private/clamd.ts'
import { startMariadb } from './private/mariadb.ts'
import { allAfterSettled } from './private/process.ts'
import { untilShutdownSignal } from './signals.ts'
import { claimFolder, pathsIn, readJsonFile, type UpFile, writeJsonFile } from './up/folder.ts'
import { welcomeText } from './up/welcome.ts'

const defaultFolder = join(import.meta.dir, '../../var')

export const upCommand: Command = {
  usage: `./mailroom up [--var DIR] [--fresh]

Starts a whole Mailroom on this machine alone, to try it: a MariaDB and a clamd of its own, the organization and brand
demo, the domain demo.test, which sends and receives, the mailbox hello@demo.test and a catch-all, and a key. Mail goes
out to a sandbox that keeps it. It prints what to do next, and writes DIR/up.json when it is ready.

  --var DIR   where everything is kept between runs (default: var, beside this command)
  --fresh     take away what earlier runs left in DIR, mail and all, and begin with nothing

SMTP is on 127.0.0.1:2525 and HTTP on 127.0.0.1:8080. Every MAILROOM_* variable that you set holds here as well: with
MAILROOM_HTTP_LISTEN=127.0.0.1:0 a free port is taken, and with MAILROOM_DATABASE_URL or MAILROOM_CLAMD yours are used
and none of its own are started. Ctrl-C or SIGTERM lets what is under way finish, then ends all of it.`,

  async run(args, env) {
    const { options, flags } = readArguments(args, { options: ['var'], flags: ['fresh'] })
    const folder = resolve(options['var'] ?? defaultFolder)
    const held = await claimFolder(folder, flags.has('fresh'))
    const told = untilShutdownSignal()
    const ends: ShutdownSteps = [async () => held.giveBack()]
    try {
      await start(folder, env, ends)
      await told
      say('ending; what is under way finishes first')
    } finally {
      rmSync(pathsIn(folder).up, { force: true })
      for (const end of ends.reverse()) await end()
    }
    return null
  },
}

/** How to end what was started, in the order in which it was started. */
type ShutdownSteps = (() => Promise<void>)[]

async function start(folder: string, env: Environment, ends: ShutdownSteps): Promise<void> {
  const places = pathsIn(folder)
  const config = readConfig({ ...(await startServers(folder, env, ends)), ...trialSettings(env), ...given(env) })
  const serving = await serve(config)
  ends.push(() => serving.stop())
  const { http, smtp } = serving
  if (!http || !smtp) throw new CommandError('up needs the roles http and smtp; MAILROOM_ROLES leaves one of them out.')
  const database = openDatabase(config.databaseUrl, 2)
  ends.push(() => database.close())
  const key = await demoKey(database.db, http, places.demo)
  const demo = await createDemo({ base: http, key }, database.db)
  const file: UpFile = {
    http,
    smtp,
    key,
    ...demo,
    database_url: config.databaseUrl,
    pid: process.pid,
  }
  writeJsonFile(places.up, file)
  process.stdout.write(welcomeText(file, places.up))
}

/** The private servers, except those that the environment names, and the settings that lead to them. */
async function startServers(folder: string, env: Environment, ends: ShutdownSteps): Promise<Environment> {
  const places = pathsIn(folder)
  const { MAILROOM_DATABASE_URL: databaseUrl, MAILROOM_CLAMD: clamdAddress } = env
  const [mariadb, clamd] = await allAfterSettled([
    databaseUrl ? Promise.resolve(undefined) : startOwnMariadb(places.mariadb, ends),
    clamdAddress ? Promise.resolve(undefined) : startOwnClamd(places.clamd, ends),
  ])
  return {
    MAILROOM_VAR: folder,
    ...(mariadb && { MAILROOM_DATABASE_URL: mariadb.url }),
    ...(clamd && { MAILROOM_CLAMD: clamd.address }),
  }
}

async function startOwnMariadb(folder: string, ends: ShutdownSteps) {
  say(`starting a MariaDB in ${folder}`)
  const mariadb = await startMariadb({ folder })
  ends.push(() => mariadb.stop())
  return mariadb
}

async function startOwnClamd(folder: string, ends: ShutdownSteps) {
  const known = installedSignatures()
  say(
    known.signatures
      ? `starting a clamd in ${folder}, with ClamAV's database; that takes a while`
      : `starting a clamd in ${folder}; ClamAV's database is not in ${clamavFolder}, so it knows the EICAR test file only`,
  )
  const clamd = await startClamd({ folder, ...known })
  ends.push(() => clamd.stop())
  return clamd
}

/** What holds for a trial on one machine unless the environment says otherwise. */
function trialSettings(env: Environment): Environment {
  const httpListen = env['MAILROOM_HTTP_LISTEN'] ?? '127.0.0.1:8080'
  return {
    MAILROOM_HTTP_LISTEN: httpListen,
    MAILROOM_PUBLIC_URL: `http://${httpListen}`,
    MAILROOM_SMTP_LISTEN: '127.0.0.1:2525',
    MAILROOM_METRICS_LISTEN: '127.0.0.1:0',
    MAILROOM_HOSTNAME: 'mail.demo.test',
    MAILROOM_POSTMASTER: 'hello@demo.test',
    MAILROOM_DNS_ZONE: 'local',
    MAILROOM_PROVIDER: 'sandbox',
    MAILROOM_LOG_LEVEL: 'warn',
  }
}

/** What the environment sets; a variable that is set to nothing is not set. */
function given(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value))
}

/** What is kept from run to run, so that the same organization and key are used again. */
interface DemoAccess {
  readonly organization_id: Id<'org'>
  readonly key: string
}

async function demoKey(db: Db, base: string, file: string): Promise<string> {
  const kept = readJsonFile<DemoAccess>(file)
  if (kept && (await isKeyValid({ base, key: kept.key }))) return kept.key
  const isThere = (await listOrganizations(db)).some(organization => organization.id === kept?.organization_id)
  const organizationId =
    kept && isThere
      ? kept.organization_id
      : (await createOrganization(db, { name: 'Demo', plan: 'unlimited' }, systemClock)).id
  const made = { organizationId, brandId: null, name: 'Made by ./mailroom up', scopes: defaultScopes, expiresAt: null }
  const { key } = await createKey(db, made, systemClock)
  writeJsonFile(file, { organization_id: organizationId, key } satisfies DemoAccess)
  return key
}

function say(text: string): void {
  process.stderr.write(`mailroom: ${text}\n`)
}
