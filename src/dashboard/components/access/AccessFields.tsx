import type { BrandOfSession } from '../../api/session.ts'
import { Checkbox } from '../fields/Checkbox.tsx'
import { ScopePicker } from './ScopePicker.tsx'
import { allScopes, isPermissionScope, type Permission, type Scope } from './scopes.ts'
import { accessStrings as strings } from './strings.ts'

/** What a member may do, and where. */
export interface MemberAccess {
  readonly brandIds: readonly string[]
  readonly permissions: readonly Permission[]
}

interface AccessFieldsProps {
  readonly brands: readonly BrandOfSession[]
  readonly value: MemberAccess
  readonly onValue: (value: MemberAccess) => void
}

const offered = allScopes.filter(isPermissionScope)

/** The brands and the permissions of a member. */
export function AccessFields({ brands, value, onValue }: AccessFieldsProps) {
  const { brandIds, permissions } = value
  const hasApiAccess = permissions.includes('api_access')
  const apiAccess = hasApiAccess ? (['api_access'] as const) : []
  return (
    <div className="flex flex-col gap-5">
      <fieldset className="min-w-0">
        <legend className="mb-1 text-sm font-medium">{strings.brands}</legend>
        <div className="flex max-h-40 flex-col gap-1 overflow-y-auto text-sm">
          {brands.map(({ id, name }) => (
            <Checkbox
              key={id}
              label={name}
              isChecked={brandIds.includes(id)}
              onChecked={isChecked =>
                onValue({ ...value, brandIds: isChecked ? [...brandIds, id] : brandIds.filter(other => other !== id) })
              }
            />
          ))}
        </div>
      </fieldset>
      <div>
        <div className="mb-2 text-sm font-medium" aria-hidden="true">
          {strings.permissions}
        </div>
        <ScopePicker
          label={strings.permissions}
          offered={offered}
          value={permissions.filter(isScope)}
          onValue={scopes => onValue({ brandIds, permissions: [...scopes.filter(isPermissionScope), ...apiAccess] })}
        />
      </div>
      <Checkbox
        label={strings.apiAccess}
        hint={strings.apiAccessHint}
        isChecked={hasApiAccess}
        onChecked={isChecked =>
          onValue({
            brandIds,
            permissions: [...permissions.filter(isScope), ...(isChecked ? ['api_access' as const] : [])],
          })
        }
      />
    </div>
  )
}

function isScope(permission: Permission): permission is Exclude<Permission, 'api_access'> {
  return (allScopes as readonly (Scope | 'api_access')[]).includes(permission)
}

/** Everything, in these brands. */
export function fullAccess(brandIds: readonly string[]): MemberAccess {
  return { brandIds, permissions: [...offered, 'api_access'] }
}
