import { useNavigate, useSearch } from '@tanstack/react-router'
import { ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { Segmented } from '../../../components/fields/Segmented.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { PagedRows } from '../../../components/lists/PagedRows.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { Bytes } from '../../../components/text/Amount.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { usePages } from '../../../hooks/pages.ts'
import { QuarantinedDialog } from './QuarantinedDialog.tsx'
import type { QuarantinedMessage } from './quarantine.ts'
import { quarantineStrings as strings } from './strings.ts'
import { Verdict } from './Verdict.tsx'

const reasons = [
  { value: 'all', label: strings.all },
  { value: 'infected', label: strings.infected },
  { value: 'unscanned', label: strings.unscanned },
] as const

/** `/app/instance/quarantine`. */
export function QuarantineScreen() {
  const { reason } = useSearch({ from: '/instance/quarantine' })
  const navigate = useNavigate({ from: '/instance/quarantine' })
  const [opened, setOpened] = useState<QuarantinedMessage | null>(null)
  const pages = usePages(['instance', 'quarantine', 'list', reason], cursor =>
    answer(
      app.GET('/app/api/instance/quarantine', {
        params: { query: { ...(reason && { reason }), ...(cursor !== undefined && { cursor }) } },
      }),
    ),
  )
  return (
    <>
      <PageHeader
        title={strings.title}
        actions={
          <Segmented
            label={strings.filter}
            value={reason ?? 'all'}
            onValue={value => void navigate({ search: value === 'all' ? {} : { reason: value } })}
            options={reasons}
          />
        }
      >
        {strings.hint}
      </PageHeader>
      <PagedRows
        pages={pages}
        empty={
          <EmptyState icon={<ShieldCheck />} title={strings.empty}>
            {strings.emptyHint}
          </EmptyState>
        }
      >
        {rows => (
          <Table
            label={strings.title}
            rows={rows}
            rowKey={({ id }) => id}
            columns={[
              {
                key: 'subject',
                label: strings.subject,
                isTitle: true,
                isWide: true,
                cell: message => (
                  <button
                    type="button"
                    className="max-w-full truncate rounded-sm text-left font-medium hover:underline"
                    onClick={() => setOpened(message)}
                  >
                    <SafeText text={message.subject} none={strings.noSubject} />
                  </button>
                ),
              },
              {
                key: 'verdict',
                label: strings.verdict,
                cell: ({ scan, scan_signature }) => <Verdict scan={scan} signature={scan_signature} />,
              },
              { key: 'from', label: strings.from, cell: ({ from_address }) => <Address text={from_address} /> },
              { key: 'to', label: strings.to, cell: ({ rcpt_to }) => <Address text={rcpt_to} /> },
              { key: 'size', label: strings.size, align: 'right', cell: ({ size }) => <Bytes value={size} /> },
              { key: 'received', label: strings.received, cell: ({ received_at }) => <Time at={received_at} /> },
            ]}
          />
        )}
      </PagedRows>
      {opened && <QuarantinedDialog message={opened} onClose={() => setOpened(null)} />}
    </>
  )
}

function Address({ text }: { readonly text: string }) {
  return (
    <span className="block max-w-48 truncate" title={text}>
      <SafeText text={text} />
    </span>
  )
}
