import { Link, useParams, useRouterState } from '@tanstack/react-router'
import { ChevronsUpDown, ServerCog, UserCog } from 'lucide-react'
import { useSession } from '../../api/session.ts'
import { Menu, MenuLabel, MenuLink, MenuSeparator } from '../../components/overlays/Menu.tsx'
import { Avatar } from '../../components/text/Avatar.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { strings } from '../strings.ts'

/** The organization that is shown, and the others; for operators the instance. */
export function HouseMenu() {
  const { organizations, is_operator: isOperator } = useSession()
  const { organization: id } = useParams({ strict: false })
  const current = organizations.find(organization => organization.id === id)
  const isInstance = useRouterState({ select: state => /^(\/app)?\/instance(\/|$)/.test(state.location.pathname) })
  const name = current?.name ?? (isInstance ? strings.instance : strings.account)
  const HouseIcon = isInstance ? ServerCog : UserCog
  return (
    <Menu
      button={
        <button
          type="button"
          className="flex h-8 min-w-0 items-center gap-2 rounded-md px-2 text-sm font-semibold hover:bg-hover pointer-coarse:h-10"
        >
          {current ? (
            <Avatar name={name} shape="organization" className="size-5" />
          ) : (
            <HouseIcon className="size-4" aria-hidden="true" />
          )}
          <span className="min-w-0 max-w-24 truncate sm:max-w-48">
            <SafeText text={name} />
          </span>
          <ChevronsUpDown className="size-3.5 shrink-0 text-faint" aria-hidden="true" />
        </button>
      }
    >
      {organizations.length > 0 && <MenuLabel>{strings.organizations}</MenuLabel>}
      {organizations.map(organization => (
        <MenuLink
          key={organization.id}
          icon={<Avatar name={organization.name} shape="organization" className="size-5" />}
          isCurrent={organization === current}
          link={<Link to="/$organization" params={{ organization: organization.id }} />}
        >
          <SafeText text={organization.name} />
        </MenuLink>
      ))}
      {isOperator && (
        <>
          {organizations.length > 0 && <MenuSeparator />}
          <MenuLink icon={<ServerCog />} isCurrent={isInstance} link={<Link to="/instance" />}>
            {strings.instance}
          </MenuLink>
        </>
      )}
    </Menu>
  )
}
