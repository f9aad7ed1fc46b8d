import type { MachineLimits } from '../machine-limits.ts'
import type { Config } from './config.ts'
import { MiB } from './parsers.ts'

/** The roles whose listening ports several processes share. */
const sharedRoles: readonly Config['roles'][number][] = ['smtp', 'http', 'submission']

/** The memory of one process while it receives large messages, and of their parent, in bytes. */
const processBytes = 400 * MiB
const parentBytes = 64 * MiB
const maxDefaultProcesses = 8
/** Fewer connections would make requests wait for each other, also where little is to be done. */
const minConnections = 4

/** How many processes serve: as MAILROOM_PROCESSES says, else as many as cores and memory allow. */
export function processCount(config: Pick<Config, 'roles' | 'processes'>, machine: MachineLimits): number {
  if (!config.roles.some(role => sharedRoles.includes(role))) return 1
  if (config.processes !== undefined) return config.processes
  // A machine of its own also has the database and the scanner to carry.
  const memoryBytes = machine.isMemoryOurs ? machine.memoryBytes : machine.memoryBytes / 2
  const fitting = Math.floor((memoryBytes - parentBytes) / processBytes)
  return Math.max(1, Math.min(machine.cores, fitting, maxDefaultProcesses))
}

/** One of several processes that share their listening ports. */
export interface SharedPlace {
  /** From 1 on. The first one also has the roles that share nothing, and runs the background jobs. */
  readonly number: number
  readonly count: number
}

/**
 * The settings of one of `count` processes: its roles, and its part of the limits that hold for all of them together. Clients
 * are spread over the processes by chance, so that the part of a small limit has room for an uneven spread.
 */
export function configOfProcess(config: Config, { number, count }: SharedPlace): Config {
  const partOf = (limit: number) => Math.ceil(limit / count)
  return {
    ...config,
    roles: number === 1 ? config.roles : config.roles.filter(role => sharedRoles.includes(role)),
    databaseConnections: connectionsOfProcess(config, count),
    scansAtOnce: partOf(config.scansAtOnce),
    rspamdChecksAtOnce: partOf(config.rspamdChecksAtOnce),
    maxSessions: partOf(config.maxSessions),
    maxSessionsPerAddress: unevenPart(config.maxSessionsPerAddress, count),
    authFailuresPerMinute: partOf(config.authFailuresPerMinute),
  }
}

/** Connections of one of `count` processes for each of its roles. */
function connectionsOfProcess({ databaseConnections }: Pick<Config, 'databaseConnections'>, count: number): number {
  return Math.min(databaseConnections, Math.max(minConnections, Math.ceil(databaseConnections / count)))
}

/** Two standard deviations more than an even part (binomial distribution), at most all. */
function unevenPart(limit: number, count: number): number {
  const even = limit / count
  return Math.min(limit, Math.ceil(even + 2 * Math.sqrt(even * (1 - 1 / count))))
}

/** The most connections to the database that `count` processes with these settings open. */
export function maxDatabaseConnections(config: Config, count: number): number {
  const places = Array.from({ length: count }, (_, i) => configOfProcess(config, { number: i + 1, count }))
  return places.reduce((sum, { roles, databaseConnections }) => {
    // One pool for each role, and one for the background jobs; submission uses that of http where both are here.
    const isShared = roles.includes('submission') && roles.includes('http')
    return sum + (roles.length + (isShared ? 0 : 1)) * databaseConnections
  }, 0)
}
