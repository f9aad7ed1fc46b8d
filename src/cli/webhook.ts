import { defineGroup } from './command.ts'
import { databaseNote } from './database.ts'
import { replay, retry } from './webhook/again.ts'
import { disable, enable, list } from './webhook/state.ts'

const notes = `A webhook is an endpoint of another program, to which an organization has its events delivered. Processes with the
role webhooks deliver.

${databaseNote}`

export const webhookCommand = defineGroup('webhook', notes, [list, disable, enable, retry, replay])
