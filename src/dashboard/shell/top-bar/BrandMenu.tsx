import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { ChevronsUpDown } from 'lucide-react'
import { useSession } from '../../api/session.ts'
import { Menu, MenuItem, MenuLabel } from '../../components/overlays/Menu.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { strings } from '../strings.ts'

/** The filter by brand, in the URL. Absent for who has one brand, and in the instance. */
export function BrandMenu() {
  const navigate = useNavigate()
  const { organizations } = useSession()
  const { organization: id } = useParams({ strict: false })
  const { brand: brandId } = useSearch({ strict: false })
  const brands = organizations.find(organization => organization.id === id)?.brands ?? []
  if (brands.length < 2) return null
  const current = brands.find(brand => brand.id === brandId)
  const choose = (brand: string | undefined) =>
    void navigate({ to: '.', search: (search: object) => ({ ...search, brand }) } as never)
  return (
    <>
      <span className="text-line-strong" aria-hidden="true">
        /
      </span>
      <Menu
        button={
          <button
            type="button"
            className="flex h-8 min-w-0 items-center gap-1.5 rounded-md px-2 text-sm font-medium hover:bg-hover pointer-coarse:h-10"
          >
            <span className="sr-only">{strings.brand}: </span>
            <span className="min-w-0 max-w-24 truncate sm:max-w-40">
              {current ? <SafeText text={current.name} /> : strings.allBrands}
            </span>
            <ChevronsUpDown className="size-3.5 shrink-0 text-faint" aria-hidden="true" />
          </button>
        }
      >
        <MenuLabel>{strings.brand}</MenuLabel>
        <MenuItem isCurrent={!current} onSelect={() => choose(undefined)}>
          {strings.allBrands}
        </MenuItem>
        {brands.map(brand => (
          <MenuItem key={brand.id} isCurrent={brand === current} onSelect={() => choose(brand.id)}>
            <SafeText text={brand.name} />
          </MenuItem>
        ))}
      </Menu>
    </>
  )
}
