import type { Kysely } from 'kysely'
import { addTables } from '../migration-steps.ts'

const floor = 'migration VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, PRIMARY KEY (migration)'

/**
 * What a program must know to work on these tables. A migration that takes away or changes what the version before used
 * writes its own name here first; one that only adds does not.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await addTables(db, { schema_floor: floor })
}
