import { retentionKindNames, retentionKinds } from '../retention/policies/kinds.ts'
import { defineGroup } from './command.ts'
import { databaseNote } from './database.ts'
import { plan } from './retention/plan.ts'
import { set, show } from './retention/policies.ts'
import { run } from './retention/run.ts'

const notes = `What is stored is kept for a number of days, each kind for its own:

${retentionKindNames.map(kind => `  ${kind.padEnd(18)} ${retentionKinds[kind]}`).join('\n')}

By default spam, trash and event_feed are kept 30 days, quarantine 90, webhook_deliveries 14, request_log
MAILROOM_REQUEST_LOG_DAYS, and everything else forever. Emails that are not sent yet, drafts and templates are never
deleted. Deleting frees space for what is stored next;
the files of the database do not shrink.

${databaseNote}`

export const retentionCommand = defineGroup('retention', notes, [show, set, plan, run])
