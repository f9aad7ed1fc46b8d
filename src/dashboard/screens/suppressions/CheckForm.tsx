import { Search } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Notice } from '../../components/feedback/Notice.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { suppressionStrings as strings } from './strings.ts'
import type { Suppression } from './suppression.ts'
import { useBrandChoice } from './useBrandChoice.ts'

interface CheckResult {
  readonly email: string
  readonly suppression: Suppression | null
}

/** Says whether emails are sent to an address. */
export function CheckForm() {
  const { api, brandId, setBrandId, options } = useBrandChoice()
  const [email, setEmail] = useState('')
  const [result, setResult] = useState<CheckResult | null>(null)
  const [error, setError] = useState<unknown>(null)
  const check = async () => {
    setError(null)
    setResult(null)
    try {
      setResult(await answer(api.v1.GET('/v1/suppressions/check', { params: { query: { email: email.trim() } } })))
    } catch (thrown) {
      setError(thrown)
    }
  }
  return (
    <div className="flex w-full min-w-0 flex-col gap-2 sm:w-auto sm:max-w-md">
      <form
        className="flex gap-2"
        onSubmit={event => {
          event.preventDefault()
          void check()
        }}
      >
        <input
          type="text"
          aria-label={strings.checkLabel}
          placeholder={strings.check}
          className="input min-w-0 flex-1"
          autoComplete="off"
          spellCheck={false}
          autoCapitalize="none"
          required
          value={email}
          onChange={event => setEmail(event.currentTarget.value)}
        />
        {options.length > 1 && (
          <select
            aria-label={strings.brand}
            className="input w-auto max-w-32 pr-8"
            value={brandId}
            onChange={event => setBrandId(event.currentTarget.value)}
          >
            {options.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
        <Button type="submit" icon={<Search />}>
          {strings.checkButton}
        </Button>
      </form>
      <div role="status" className="min-w-0 break-words">
        {result?.suppression && (
          <Notice tone="warn" title={strings.isSuppressed(result.email, strings.reasons[result.suppression.reason])}>
            {result.suppression.evidence}
          </Notice>
        )}
        {result && !result.suppression && <Notice tone="good" title={strings.isFree(result.email)} />}
      </div>
      {error !== null && <Refusal error={error} />}
    </div>
  )
}
