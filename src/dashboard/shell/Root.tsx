import { Outlet } from '@tanstack/react-router'
import { Toasts } from '../components/overlays/Toasts.tsx'
import { AwayBanner } from './AwayBanner.tsx'
import { Prompts } from './prompts/Prompts.tsx'

/** What is around every screen, also of those without navigation. */
export function Root() {
  return (
    <>
      <AwayBanner />
      <Outlet />
      <Toasts />
      <Prompts />
    </>
  )
}
