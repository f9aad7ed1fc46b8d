import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../../components/overlays/ConfirmDialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Time } from '../../../components/text/Time.tsx'
import type { Organization } from './organization.ts'
import { organizationStrings as strings } from './strings.ts'

type PausedBrand = Organization['paused_brands'][number]

/** The brands whose sending is paused, and letting them send again; nothing where there is none. */
export function PausedBrands({ organizations }: { readonly organizations: readonly Organization[] }) {
  const queryClient = useQueryClient()
  const [chosen, setChosen] = useState<PausedBrand | null>(null)
  const brands = organizations.flatMap(({ name, paused_brands }) =>
    paused_brands.map(brand => ({ ...brand, organization: name })),
  )
  if (brands.length === 0) return null
  return (
    <Section title={strings.pausedTitle} hint={strings.pausedHint}>
      <Table
        label={strings.pausedTitle}
        rows={brands}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'name',
            label: strings.brand,
            isTitle: true,
            cell: ({ name, organization }) => <SafeText text={`${organization}: ${name}`} />,
          },
          {
            key: 'reason',
            label: strings.reason,
            isWide: true,
            cell: ({ reason }) => <SafeText text={reason} none={strings.none} />,
          },
          { key: 'since', label: strings.since, cell: row => <Time at={row.paused_at} /> },
          {
            key: 'resume',
            label: strings.resume,
            isActions: true,
            cell: brand => (
              <Button size="small" aria-label={strings.resumeOf(brand.name)} onClick={() => setChosen(brand)}>
                {strings.resume}
              </Button>
            ),
          },
        ]}
      />
      {chosen && (
        <ConfirmDialog
          isOpen
          onClose={() => setChosen(null)}
          title={strings.confirmResume(chosen.name)}
          action={strings.resume}
          onConfirm={async () => {
            const params = { path: { id: chosen.id } }
            await answer(app.POST('/app/api/instance/brands/{id}/resume', { params }))
            showToast(strings.resumed(chosen.name))
            await queryClient.invalidateQueries({ queryKey: ['instance', 'organizations'] })
          }}
        >
          {strings.resumeHint}
        </ConfirmDialog>
      )}
    </Section>
  )
}
