import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Check, Ellipsis, Pencil, Plus } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { Menu, MenuItem } from '../../../components/overlays/Menu.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { settingStrings as strings } from '../strings.ts'
import type { Brand } from './brand.ts'
import { CreateBrandDialog } from './CreateBrandDialog.tsx'
import { EditBrandDialog } from './EditBrandDialog.tsx'

/** The brands: created and renamed by owners and admins. */
export function Brands() {
  const { wholeApi, organization } = useOrganization()
  const queryClient = useQueryClient()
  const [editing, setEditing] = useState<Brand | 'new' | null>(null)
  const [failed, setFailed] = useState<unknown>(null)
  const mayChange = organization.role !== 'member'
  const { data, error } = useQuery({
    queryKey: ['brands', wholeApi.organizationId],
    queryFn: () => answer(wholeApi.v1.GET('/v1/brands')),
  })
  const provision = async (brand: Brand) => {
    setFailed(null)
    try {
      await answer(wholeApi.v1.POST('/v1/brands/{id}/provision', { params: { path: { id: brand.id } } }))
      showToast(strings.provisioned(brand.name))
      await queryClient.invalidateQueries({ queryKey: ['brands'] })
    } catch (thrown) {
      setFailed(thrown)
    }
  }
  const problem = error ?? failed
  return (
    <Section
      title={strings.brands}
      hint={strings.brandsHint}
      actions={
        mayChange && (
          <Button size="small" icon={<Plus />} onClick={() => setEditing('new')}>
            {strings.createBrand}
          </Button>
        )
      }
    >
      {problem !== null && problem !== undefined && <Refusal error={problem} />}
      {!data && !error && <SkeletonRows rows={2} />}
      {data?.data.length === 0 && <p className="text-sm text-muted">{strings.noBrands}</p>}
      {data && data.data.length > 0 && (
        <Table
          label={strings.brands}
          rows={data.data}
          rowKey={({ id }) => id}
          columns={[
            {
              key: 'name',
              label: strings.brandName,
              isTitle: true,
              isWide: true,
              cell: ({ name }) => <SafeText text={name} />,
            },
            {
              key: 'slug',
              label: strings.slug,
              cell: ({ slug }) => <span className="font-mono text-xs">{slug}</span>,
            },
            {
              key: 'status',
              label: strings.status,
              cell: ({ status }) => <Status tone={status === 'ready' ? 'good' : 'waits'}>{strings[status]}</Status>,
            },
            { key: 'created', label: strings.created, cell: ({ created_at }) => <Time at={created_at} show="day" /> },
            {
              key: 'actions',
              label: strings.actions,
              isActions: true,
              cell: brand =>
                mayChange && (
                  <Menu button={<IconButton size="small" label={strings.actionsOf(brand.name)} icon={<Ellipsis />} />}>
                    <MenuItem icon={<Pencil />} onSelect={() => setEditing(brand)}>
                      {strings.edit}
                    </MenuItem>
                    {brand.status !== 'ready' && (
                      <MenuItem icon={<Check />} onSelect={() => void provision(brand)}>
                        {strings.provision}
                      </MenuItem>
                    )}
                  </Menu>
                ),
            },
          ]}
        />
      )}
      {editing === 'new' && <CreateBrandDialog onClose={() => setEditing(null)} />}
      {editing && editing !== 'new' && <EditBrandDialog brand={editing} onClose={() => setEditing(null)} />}
    </Section>
  )
}
