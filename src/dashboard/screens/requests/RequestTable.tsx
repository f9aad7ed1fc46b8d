import { useState } from 'react'
import type { components } from '../../api/v1.ts'
import { Table } from '../../components/lists/Table.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Status } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { isLinked, MadeLink } from './MadeLink.tsx'
import { RequestDialog } from './RequestDialog.tsx'
import { toneOf } from './status-tone.ts'
import { requestStrings as strings } from './strings.ts'
import { useKeyNames } from './useKeyNames.ts'

type ApiRequest = components['schemas']['ApiRequest']

/** Requests, newest first. Each opens with all that is known of it. */
export function RequestTable({ rows }: { readonly rows: readonly ApiRequest[] }) {
  const nameOf = useKeyNames()
  const [opened, setOpened] = useState<ApiRequest | null>(null)
  return (
    <>
      <Table
        label={strings.title}
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'request',
            label: strings.request,
            isTitle: true,
            isWide: true,
            cell: request => (
              <button
                type="button"
                onClick={() => setOpened(request)}
                aria-label={strings.details(request.method, request.path)}
                className="max-w-full truncate rounded-sm text-left font-mono text-xs hover:underline"
              >
                <span className="mr-2 inline-block w-12 text-muted">{request.method}</span>
                <SafeText text={request.path} />
              </button>
            ),
          },
          {
            key: 'status',
            label: strings.status,
            cell: ({ status }) => <Status tone={toneOf(status)}>{status}</Status>,
          },
          {
            key: 'error',
            label: strings.error,
            cell: ({ error_code }) => error_code && <span className="font-mono text-xs">{error_code}</span>,
          },
          { key: 'took', label: strings.took, align: 'right', cell: ({ duration_ms }) => strings.ms(duration_ms) },
          { key: 'key', label: strings.key, cell: ({ api_key_id }) => <SafeText text={nameOf(api_key_id)} /> },
          { key: 'made', label: strings.made, cell: request => isLinked(request) && <MadeLink request={request} /> },
          { key: 'time', label: strings.time, cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
      {opened && <RequestDialog request={opened} onClose={() => setOpened(null)} />}
    </>
  )
}
