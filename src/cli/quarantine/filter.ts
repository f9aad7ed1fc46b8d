import type { Id } from '../../base/ids.ts'
import { UsageError } from '../../base/operator-error.ts'
import type { QuarantineFilter } from '../../inbox/quarantine/table.ts'
import { organizationId } from '../values.ts'

/** The options that select messages in quarantine. */
export const filterOptions = {
  org: { ...organizationId, description: 'only those of this organization' },
  sha256: {
    placeholder: 'HASH',
    description: 'only those with an attachment that has this SHA-256, or that have it as a whole, in hexadecimal',
    read: readHash,
  },
} as const

interface FilterValues {
  readonly org: Id<'org'> | undefined
  readonly sha256: Buffer | undefined
}

export function quarantineFilter({ org, sha256 }: FilterValues, ids: readonly Id<'msg'>[] = []): QuarantineFilter {
  return {
    ...(org !== undefined && { organizationId: org }),
    ...(sha256 !== undefined && { sha256 }),
    ...(ids.length > 0 && { ids }),
  }
}

function readHash(text: string): Buffer {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new UsageError(`"${text}" is not a SHA-256 in hexadecimal`)
  return Buffer.from(text, 'hex')
}
