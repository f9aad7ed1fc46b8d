import { useRouter } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import type { StatusLamp } from '../../api/organization-health.ts'
import { useOrganization } from '../../hooks/organization.ts'

/** A link to the screen where a lamp is mended, which the server names. */
export function LampLink({ lamp, ...props }: { readonly lamp: StatusLamp } & ComponentProps<'a'>) {
  const { organization, brand } = useOrganization()
  const router = useRouter()
  const target = new URL(`/app/${organization.id}${lamp.href}`, location.origin)
  if (brand) target.searchParams.set('brand', brand.id)
  const href = `${target.pathname}${target.search}`
  return (
    <a
      {...props}
      href={href}
      onClick={event => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        router.history.push(href)
      }}
    />
  )
}
