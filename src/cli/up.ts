import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createKey } from '../accounts/keys/keys.ts'
import { createOrganization, listOrganizations } from '../accounts/organizations/organizations.ts'
import { loginLinkUrl } from '../accounts/sessions/login-links.ts'
import { systemClock } from '../base/clock.ts'
import { readConfig } from '../base/config/config.ts'
import { publicAddress } from '../base/config/public-address.ts'
import { type Db, openDatabase } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { CommandError } from '../base/operator-error.ts'
import { defineCommand, type Environment } from './command.ts'
import { buildWhenOutdated } from './dashboard/built.ts'
import { createDemo, isKeyValid } from './demo.ts'
import { defaultScopes } from './key.ts'
import { clamavFolder, installedSignatures, startClamd } from './private/clamd.ts'
import { startMariadb } from './private/mariadb.ts'
import { allAfterSettled } from './private/process.ts'
import type { RunningProcesses, ServingOptions } from './processes/parent.ts'
import { startServing } from './processes/start-serving.ts'
import { untilShutdownSignal } from './signals.ts'
import { claimFolder, pathsIn, readJsonFile, type UpFile, writeJsonFile } from './up/folder.ts'
import { createDemoOwnerLink } from './up/owner.ts'
import { welcomeText } from './up/welcome.ts'

const defaultFolder = join(import.meta.dir, '../../var')

export const upCommand = defineCommand({
  name: 'up',
  summary: 'Try Mailroom on this machine: start all of it with demo data',
  details: `Starts a private MariaDB and a private clamd, the organization and brand demo, the domain demo.test, which sends and
receives, the mailbox hello@demo.test, a catch-all and an API key. Outgoing mail goes to a sandbox that stores it. Prints a
link that signs you in to the dashboard, as the demo's owner and as operator, and commands to try, and writes DIR/up.json
when it is ready.

SMTP listens on 127.0.0.1:2525, SMTP submission on 127.0.0.1:2587 and HTTP on 127.0.0.1:8080. MAILROOM_* variables that you set are used: with
MAILROOM_HTTP_LISTEN=127.0.0.1:0 a free port is taken; with MAILROOM_DATABASE_URL or MAILROOM_CLAMD your own server is used and
no private one is started; MAILROOM_PROCESSES=2 serves in two processes. Ctrl-C or SIGTERM finishes the work in progress, then stops all of it.`,
  options: {
    var: {
      placeholder: 'DIR',
      description: 'where everything is stored between runs; without it var, beside ./mailroom',
    },
    fresh: { description: 'first delete what earlier runs left in DIR, including the mail' },
  },
  hasJson: false,
  async run({ var: varFolder = defaultFolder, fresh }, { env }) {
    const folder = resolve(varFolder)
    const claim = await claimFolder(folder, fresh)
    const shutdown = untilShutdownSignal()
    const steps: ShutdownSteps = [async () => claim.release()]
    try {
      const serving = await start(folder, { env, shutdown }, steps)
      if (typeof serving === 'number') return withStatus(serving)
      const failed = await Promise.race([serving.failed, shutdown])
      if (failed !== undefined) return withStatus(failed)
      report('stopping; work in progress is finished first')
    } finally {
      rmSync(pathsIn(folder).up, { force: true })
      for (const step of steps.reverse()) await step()
    }
    return null
  },
})

/** The worker that ended has written why. */
function withStatus(status: number) {
  return { text: '', json: null, status }
}

/** How to stop what was started, in the order in which it was started. */
type ShutdownSteps = (() => Promise<void>)[]

/** Gives the exit status where one of several processes cannot start. */
async function start(
  folder: string,
  { env, shutdown }: ServingOptions,
  steps: ShutdownSteps,
): Promise<RunningProcesses | number> {
  const paths = pathsIn(folder)
  const setVariables = setValues(env)
  const [servers] = await allAfterSettled([
    startServers(folder, env, steps),
    // Loaded while the servers start, where it is this process that serves.
    setVariables['MAILROOM_PROCESSES'] ? Promise.resolve() : import('../main.ts'),
    buildWhenOutdated(),
  ])
  const settings = { ...servers, ...trialSettings, ...setVariables }
  const config = readConfig(settings)
  const serving = await startServing(config, { env: settings, shutdown })
  if (typeof serving === 'number') return serving
  steps.push(() => serving.stop())
  const { http, smtp, submission } = serving
  if (!http || !smtp) throw new CommandError('up needs the roles http and smtp; MAILROOM_ROLES leaves one of them out.')
  const database = openDatabase(config.databaseUrl, 2)
  steps.push(() => database.close())
  const key = await demoKey(database.db, http, paths.demo)
  const demo = await createDemo({ base: http, key }, database.db)
  const file: UpFile = {
    ...{ http, smtp, submission, key, ...demo },
    ...(await dashboardAccess(database.db, publicAddress(config, http), demo.organization_id)),
    ...{ database_url: config.databaseUrl, pid: process.pid },
  }
  writeJsonFile(paths.up, file)
  process.stdout.write(welcomeText(file, paths.up))
  return serving
}

async function dashboardAccess(
  db: Db,
  address: string,
  organizationId: Id<'org'>,
): Promise<Pick<UpFile, 'dashboard' | 'welcome_link'>> {
  const link = await createDemoOwnerLink(db, organizationId)
  return { dashboard: `${address}/app`, welcome_link: link && loginLinkUrl(address, link) }
}

/** Starts the private servers, except where the environment names others, and gives the settings that lead to them. */
async function startServers(folder: string, env: Environment, steps: ShutdownSteps): Promise<Environment> {
  const paths = pathsIn(folder)
  const { MAILROOM_DATABASE_URL: databaseUrl, MAILROOM_CLAMD: clamdAddress } = env
  const [mariadb, clamd] = await allAfterSettled([
    databaseUrl ? Promise.resolve(undefined) : startOwnMariadb(paths.mariadb, steps),
    clamdAddress ? Promise.resolve(undefined) : startOwnClamd(paths.clamd, steps),
  ])
  return {
    MAILROOM_VAR: folder,
    ...(mariadb && { MAILROOM_DATABASE_URL: mariadb.url }),
    ...(clamd && { MAILROOM_CLAMD: clamd.address }),
  }
}

async function startOwnMariadb(folder: string, steps: ShutdownSteps) {
  report(`starting a private MariaDB in ${folder}`)
  const mariadb = await startMariadb({ folder })
  steps.push(() => mariadb.stop())
  return mariadb
}

async function startOwnClamd(folder: string, steps: ShutdownSteps) {
  const installed = installedSignatures()
  report(
    installed.signatures
      ? `starting a private clamd in ${folder} with ClamAV's database; this takes a while`
      : `starting a private clamd in ${folder}; ClamAV's database is not in ${clamavFolder}, so it detects only the EICAR test file`,
  )
  const clamd = await startClamd({ folder, ...installed })
  steps.push(() => clamd.stop())
  return clamd
}

/** The defaults for a trial on one machine. */
const trialSettings: Environment = {
  MAILROOM_HTTP_LISTEN: '127.0.0.1:8080',
  MAILROOM_SMTP_LISTEN: '127.0.0.1:2525',
  MAILROOM_SUBMISSION_LISTEN: '127.0.0.1:2587',
  MAILROOM_METRICS_LISTEN: '127.0.0.1:0',
  MAILROOM_HOSTNAME: 'mail.demo.test',
  MAILROOM_POSTMASTER: 'hello@demo.test',
  MAILROOM_DNS_ZONE: 'local',
  MAILROOM_PROVIDER: 'sandbox',
  MAILROOM_LOG_LEVEL: 'warn',
  MAILROOM_PROCESSES: '1',
}

/** The variables that are set; one with an empty value is not. */
function setValues(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value))
}

/** Stored between runs, so that the same organization and key are used again. */
interface DemoAccess {
  readonly organization_id: Id<'org'>
  readonly key: string
}

async function demoKey(db: Db, base: string, file: string): Promise<string> {
  const stored = readJsonFile<DemoAccess>(file)
  if (stored && (await isKeyValid({ base, key: stored.key }))) return stored.key
  const organizations = await listOrganizations(db)
  const existing = organizations.find(organization => organization.id === stored?.organization_id)
  const { id: organizationId } =
    existing ?? (await createOrganization(db, { name: 'Demo', plan: 'unlimited' }, systemClock))
  const request = {
    organizationId,
    brandId: null,
    name: 'Made by ./mailroom up',
    scopes: defaultScopes,
    expiresAt: null,
  }
  const { key } = await createKey(db, request, systemClock)
  writeJsonFile(file, { organization_id: organizationId, key } satisfies DemoAccess)
  return key
}

function report(text: string): void {
  process.stderr.write(`mailroom: ${text}\n`)
}
