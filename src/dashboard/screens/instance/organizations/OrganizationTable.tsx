import { Ellipsis } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { Menu, MenuItem } from '../../../components/overlays/Menu.tsx'
import { Bytes } from '../../../components/text/Amount.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status, Tag } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { type Organization, plans } from './organization.ts'
import { PlanDialog } from './PlanDialog.tsx'
import { organizationStrings as strings } from './strings.ts'

/** The organizations, each with its plan and what it used. */
export function OrganizationTable({ rows }: { readonly rows: readonly Organization[] }) {
  const [move, setMove] = useState<{ organization: Organization; plan: Organization['plan'] } | null>(null)
  return (
    <>
      <Table
        label={strings.title}
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'name',
            label: strings.name,
            isTitle: true,
            isWide: true,
            cell: ({ name, id }) => (
              <span title={id}>
                <SafeText text={name} />
              </span>
            ),
          },
          { key: 'plan', label: strings.plan, cell: ({ plan }) => <Tag>{plan}</Tag> },
          { key: 'sent', label: strings.sent, align: 'right', cell: describeUse },
          {
            key: 'stored',
            label: strings.stored,
            align: 'right',
            cell: row => (row.stored_bytes === null ? strings.none : <Bytes value={row.stored_bytes} />),
          },
          {
            key: 'brands',
            label: strings.brands,
            cell: row =>
              row.paused_brands.length === 0 ? (
                <span className="text-faint">{strings.none}</span>
              ) : (
                <Status tone="bad">{strings.paused(row.paused_brands.length)}</Status>
              ),
          },
          { key: 'created', label: strings.createdAt, cell: row => <Time at={row.created_at} show="day" /> },
          {
            key: 'actions',
            label: strings.actions(''),
            isActions: true,
            cell: organization => (
              <Menu button={<IconButton label={strings.actions(organization.name)} icon={<Ellipsis />} size="small" />}>
                {plans
                  .filter(plan => plan !== organization.plan)
                  .map(plan => (
                    <MenuItem key={plan} onSelect={() => setMove({ organization, plan })}>
                      {strings.moveTo(plan)}
                    </MenuItem>
                  ))}
              </Menu>
            ),
          },
        ]}
      />
      {move && <PlanDialog {...move} onClose={() => setMove(null)} />}
    </>
  )
}

function describeUse({ used, included }: Organization): string {
  const sent = used.toLocaleString('en')
  return included === null ? sent : strings.of(sent, included.toLocaleString('en'))
}
