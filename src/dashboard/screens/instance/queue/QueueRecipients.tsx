import { Ellipsis } from 'lucide-react'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { Menu, MenuItem } from '../../../components/overlays/Menu.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status, type Tone } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import type { QueueActionName, QueueRecipient } from './queue.ts'
import { queueStrings as strings } from './strings.ts'

interface QueueRecipientsProps {
  readonly rows: readonly QueueRecipient[]
  /** Acts on the whole email of the row. */
  readonly onAct: (action: QueueActionName, emailId: string) => void
}

/** The recipients that wait, the oldest first. */
export function QueueRecipients({ rows, onAct }: QueueRecipientsProps) {
  return (
    <Table
      label={strings.recipients}
      rows={rows}
      rowKey={({ email_id, recipient }) => `${email_id} ${recipient}`}
      columns={[
        {
          key: 'recipient',
          label: strings.recipient,
          isTitle: true,
          cell: ({ recipient, from }) => (
            <span className="block max-w-64 truncate" title={`${strings.from} ${from}`}>
              <SafeText text={recipient} />
            </span>
          ),
        },
        { key: 'state', label: strings.status, cell: row => <RecipientState row={row} /> },
        { key: 'age', label: strings.age, cell: ({ accepted_at }) => <Time at={accepted_at} /> },
        {
          key: 'next',
          label: strings.next,
          cell: ({ next_attempt_at }) => <Time at={next_attempt_at} none={strings.none} />,
        },
        { key: 'attempts', label: strings.attempts, align: 'right', cell: ({ attempts }) => attempts },
        {
          key: 'reply',
          label: strings.reply,
          isWide: true,
          cell: ({ last_reply }) => (
            <span className="font-mono text-xs text-muted" title={last_reply ?? undefined}>
              <SafeText text={last_reply} none={strings.none} />
            </span>
          ),
        },
        {
          key: 'actions',
          label: strings.act,
          isActions: true,
          cell: ({ recipient, email_id, held_at }) => (
            <Menu button={<IconButton label={strings.actOne(recipient)} icon={<Ellipsis />} size="small" />}>
              {(held_at === null ? (['retry', 'hold', 'cancel'] as const) : (['release', 'cancel'] as const)).map(
                action => (
                  <MenuItem key={action} isDanger={action === 'cancel'} onSelect={() => onAct(action, email_id)}>
                    {strings.actions[action].name}
                  </MenuItem>
                ),
              )}
            </Menu>
          ),
        },
      ]}
    />
  )
}

const tones: Partial<Record<QueueRecipient['status'], Tone>> = { delayed: 'warn', scheduled: 'off', queued: 'waits' }

function RecipientState({ row }: { readonly row: QueueRecipient }) {
  if (row.held_at !== null)
    return (
      <Status tone="info" {...(row.held_reason !== null && { title: strings.heldBecause(row.held_reason) })}>
        {strings.isHeld}
      </Status>
    )
  if (row.in_flight) return <Status tone="waits">{strings.submitting}</Status>
  return <Status tone={tones[row.status] ?? 'waits'}>{row.status}</Status>
}
