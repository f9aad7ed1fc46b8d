import { useRouter, useSearch } from '@tanstack/react-router'
import { CenteredPage } from '../../shell/pages/CenteredPage.tsx'
import { SignInForm } from './SignInForm.tsx'
import { signInStrings as strings } from './strings.ts'

/** `/app/sign-in`. */
export function SignInScreen() {
  const router = useRouter()
  const { next } = useSearch({ from: '/sign-in' })
  return (
    <CenteredPage title={strings.title}>
      {/* The router's locations have no base path, the browser's have. */}
      <SignInForm onSignedIn={() => router.history.push(`${router.basepath}${next ?? '/'}`)} />
      <p className="mt-6 text-sm text-muted">{strings.noAccount}</p>
    </CenteredPage>
  )
}
