import { useNavigate, useSearch } from '@tanstack/react-router'
import { Download, ScrollText } from 'lucide-react'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import { downloadFile } from '../../../api/download.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Select } from '../../../components/fields/Select.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { PagedRows } from '../../../components/lists/PagedRows.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { usePages } from '../../../hooks/pages.ts'
import { auditStrings as strings } from './strings.ts'

const anyAction = ''

/** `/app/instance/audit`. */
export function AuditScreen() {
  const { action } = useSearch({ from: '/instance/audit' })
  const navigate = useNavigate({ from: '/instance/audit' })
  const [failure, setFailure] = useState<unknown>(null)
  const exportAll = async () => {
    setFailure(null)
    try {
      await downloadFile('/app/api/instance/audit.csv', { organizationId: null, brandId: null, query: { action } })
    } catch (thrown) {
      setFailure(thrown)
    }
  }
  const pages = usePages(['instance', 'audit', action], cursor =>
    answer(
      app.GET('/app/api/instance/audit', {
        params: { query: { ...(action !== undefined && { action }), ...(cursor !== undefined && { cursor }) } },
      }),
    ),
  )
  return (
    <>
      <PageHeader
        title={strings.title}
        actions={
          <Button icon={<Download />} onClick={() => void exportAll()}>
            {strings.export}
          </Button>
        }
      >
        {strings.hint}
      </PageHeader>
      {failure !== null && <Refusal error={failure} />}
      <div className="mb-4 max-w-60">
        <Select
          label={strings.filter}
          value={action ?? anyAction}
          onValue={value => void navigate({ search: value === anyAction ? {} : { action: value } })}
          options={[
            { value: anyAction, label: strings.any },
            ...strings.actions.map(value => ({ value: value as string, label: value })),
          ]}
        />
      </div>
      <PagedRows
        pages={pages}
        empty={
          <EmptyState icon={<ScrollText />} title={strings.empty}>
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
                key: 'action',
                label: strings.action,
                isTitle: true,
                cell: row => <span className="font-mono text-sm">{row.action}</span>,
              },
              {
                key: 'actor',
                label: strings.actor,
                cell: ({ actor }) => (
                  <span className="block max-w-56 truncate" title={actor}>
                    <SafeText text={actor} />
                  </span>
                ),
              },
              {
                key: 'subject',
                label: strings.subject,
                cell: ({ subject }) => (
                  <span className="block max-w-56 truncate font-mono text-xs text-muted" title={subject}>
                    <SafeText text={subject} />
                  </span>
                ),
              },
              {
                key: 'detail',
                label: strings.detail,
                isWide: true,
                cell: ({ detail }) => {
                  const text = JSON.stringify(detail)
                  return (
                    <span className="font-mono text-xs text-muted" title={text}>
                      <SafeText text={text} />
                    </span>
                  )
                },
              },
              {
                key: 'ip',
                label: strings.ip,
                cell: ({ ip }) => (ip === null ? <span className="text-faint">{strings.command}</span> : ip),
              },
              { key: 'at', label: strings.at, cell: ({ at }) => <Time at={at} /> },
            ]}
          />
        )}
      </PagedRows>
    </>
  )
}
