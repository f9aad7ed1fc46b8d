import { useQuery, useQueryClient } from '@tanstack/react-query'
import { LockKeyhole } from 'lucide-react'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import type { components } from '../../../api/generated/app.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../../components/overlays/ConfirmDialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status, Tag } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { certificateStrings as strings } from './strings.ts'

type Certificate = components['schemas']['InstanceCertificate']

const dayMs = 86_400_000
const soonDays = 14
const verySoonDays = 3

/** `/app/instance/certificates`. */
export function CertificatesScreen() {
  const queryClient = useQueryClient()
  const [chosen, setChosen] = useState<string | null>(null)
  const { data, error } = useQuery({
    queryKey: ['instance', 'certificates'],
    queryFn: () => answer(app.GET('/app/api/instance/certificates')),
  })
  return (
    <>
      <PageHeader title={strings.title}>{strings.hint}</PageHeader>
      {error && <Refusal error={error} />}
      {!data && !error && <SkeletonRows />}
      {data?.data.length === 0 && (
        <div className="mb-8">
          <EmptyState icon={<LockKeyhole />} title={strings.empty}>
            {strings.emptyHint}
          </EmptyState>
        </div>
      )}
      {data && data.data.length > 0 && (
        <div className="mb-8">
          <Table
            label={strings.title}
            rows={data.data}
            rowKey={({ name, source }) => `${source} ${name}`}
            columns={[
              {
                key: 'name',
                label: strings.name,
                isTitle: true,
                cell: ({ name, names }) => <span title={names.join(', ')}>{name}</span>,
              },
              {
                key: 'issuer',
                label: strings.issuer,
                isWide: true,
                cell: ({ issuer }) => (
                  <span className="text-muted" title={issuer ?? undefined}>
                    <SafeText text={issuer} none={strings.none} />
                  </span>
                ),
              },
              { key: 'until', label: strings.until, cell: certificate => <Expiry certificate={certificate} /> },
              { key: 'renewal', label: strings.renewal, cell: certificate => <Renewal certificate={certificate} /> },
              {
                key: 'renew',
                label: strings.renew,
                isActions: true,
                cell: ({ name, source, is_ordering: isOrdering }) =>
                  source === 'acme' && !isOrdering ? (
                    <Button size="small" aria-label={strings.renewOf(name)} onClick={() => setChosen(name)}>
                      {strings.renew}
                    </Button>
                  ) : null,
              },
            ]}
          />
        </div>
      )}
      {data && data.mta_sts.length > 0 && (
        <Section title={strings.mtaSts} hint={strings.mtaStsHint}>
          <Table
            label={strings.mtaSts}
            rows={data.mta_sts}
            rowKey={({ domain }) => domain}
            columns={[
              { key: 'domain', label: strings.domain, isTitle: true, isWide: true, cell: ({ domain }) => domain },
              { key: 'mode', label: strings.mode, cell: ({ mode }) => <Tag>{mode}</Tag> },
              { key: 'changed', label: strings.changed, cell: row => <Time at={row.changed_at} /> },
            ]}
          />
        </Section>
      )}
      {chosen !== null && (
        <ConfirmDialog
          isOpen
          onClose={() => setChosen(null)}
          title={strings.confirm(chosen)}
          action={strings.renew}
          onConfirm={async () => {
            await answer(app.POST('/app/api/instance/certificates/renew', { body: { name: chosen } }))
            showToast(strings.renewed)
            await queryClient.invalidateQueries({ queryKey: ['instance', 'certificates'] })
          }}
        >
          {strings.confirmHint}
        </ConfirmDialog>
      )}
    </>
  )
}

function Expiry({ certificate: { not_after } }: { readonly certificate: Certificate }) {
  if (not_after === null) return <Status tone="waits">{strings.noneYet}</Status>
  const days = Math.floor((Date.parse(not_after) - Date.now()) / dayMs)
  return (
    <Status tone={days < verySoonDays ? 'bad' : days < soonDays ? 'warn' : 'good'} title={not_after}>
      {strings.left(days)}
    </Status>
  )
}

function Renewal({ certificate }: { readonly certificate: Certificate }) {
  const { source, renews_at, is_ordering: isOrdering, failures, last_error } = certificate
  if (source === 'file') return <span className="text-muted">{strings.byFile}</span>
  if (isOrdering) return <Status tone="waits">{strings.ordering}</Status>
  if (last_error !== null)
    return (
      <Status tone={failures > 0 ? 'bad' : 'warn'} title={last_error}>
        {failures > 0 ? strings.failed(failures) : <SafeText text={last_error} />}
      </Status>
    )
  return <Time at={renews_at} show="day" />
}
