import { defineGroup } from './command.ts'
import { databaseNote } from './database.ts'
import { mtaSts } from './domain/mta-sts.ts'
import { rotateDkim } from './domain/rotate-dkim.ts'

export const domainCommand = defineGroup('domain', databaseNote, [rotateDkim, mtaSts])
