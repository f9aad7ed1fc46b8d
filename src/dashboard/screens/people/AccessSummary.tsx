import { allScopes, isPermissionScope, type Permission } from '../../components/access/scopes.ts'
import { accessStrings } from '../../components/access/strings.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { peopleStrings as strings } from './strings.ts'

/** All scopes that a member can have, and having keys. */
const allPermissions = allScopes.filter(isPermissionScope).length + 1

interface AccessSummaryProps {
  /** null: all. */
  readonly brandIds: readonly string[] | null
  readonly permissions: readonly Permission[]
}

/** Brands and permissions in a line; the title has all of them. */
export function AccessSummary({ brandIds, permissions }: AccessSummaryProps) {
  const { organization } = useOrganization()
  if (brandIds === null) return strings.everything
  const names = brandIds.map(id => organization.brands.find(brand => brand.id === id)?.name ?? id)
  const words = permissions.map(permission =>
    permission === 'api_access' ? accessStrings.apiAccess : accessStrings.scopes[permission],
  )
  return (
    <span title={[...names, '', ...words].join('\n')}>
      {names.length === 0 ? strings.noBrand : strings.brands(names)}
      <span className="text-faint">
        {' '}
        · {permissions.length === allPermissions ? strings.all : strings.permissions(permissions.length)}
      </span>
    </span>
  )
}
