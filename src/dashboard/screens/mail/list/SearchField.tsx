import { useNavigate, useRouterState } from '@tanstack/react-router'
import { CircleHelp, Search, X } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { Popover } from '../../../components/overlays/Popover.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { useShortcuts } from '../../../hooks/shortcuts.ts'
import { type FolderName, mailStrings as strings } from '../strings.ts'
import { explainSearch, maxSearchLength } from './search-syntax.ts'

/** The search. What is looked for is kept with the entry of the history, never in the URL, which others may see. */
export function SearchField({ folder }: { readonly folder: FolderName }) {
  const { organization } = useOrganization()
  const navigate = useNavigate()
  const search = useRouterState({ select: state => state.location.state.mailSearch ?? '' })
  const [text, setText] = useState(search)
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => setText(search), [search])
  useShortcuts(strings.keys, [{ key: '/', label: strings.search, run: () => input.current?.focus() }])

  const show = (mailSearch: string) =>
    void navigate({
      to: '/$organization/mail/$folder',
      params: { organization: organization.id, folder },
      search: true,
      state: { mailSearch },
    })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const typedQuery = text.trim()
    const isSearchable = typedQuery === '' || explainSearch(typedQuery).isSearchable
    setProblem(isSearchable ? null : strings.searchNothing)
    if (isSearchable && typedQuery !== search) show(typedQuery)
  }
  return (
    <search className="block min-w-0 flex-1 basis-full md:basis-0">
      <form onSubmit={submit} className="flex items-center gap-1">
        <div className="relative min-w-0 flex-1">
          <Search
            className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-faint"
            aria-hidden="true"
          />
          <input
            ref={input}
            type="search"
            enterKeyHint="search"
            aria-label={strings.search}
            aria-invalid={problem ? true : undefined}
            aria-describedby={problem ? 'mail-search-problem' : undefined}
            placeholder={strings.searchHint}
            maxLength={maxSearchLength}
            autoComplete="off"
            value={text}
            onChange={event => setText(event.currentTarget.value)}
            onKeyDown={event => {
              if (event.key !== 'Escape') return
              event.preventDefault()
              if (text === '') event.currentTarget.blur()
              setText('')
              if (search !== '') show('')
            }}
            className="input pr-2 pl-8 [&::-webkit-search-cancel-button]:hidden"
          />
        </div>
        {search !== '' && <IconButton label={strings.clearSearch} icon={<X />} onClick={() => show('')} />}
        <Popover button={<IconButton label={strings.searchHelp} icon={<CircleHelp />} />} label={strings.searchHelp}>
          <SearchHelp />
        </Popover>
      </form>
      {problem && (
        <p id="mail-search-problem" role="alert" className="mt-1 text-sm text-bad">
          {problem}
        </p>
      )}
    </search>
  )
}

function SearchHelp() {
  return (
    <div className="text-sm">
      <dl className="flex flex-col gap-2">
        {strings.searchHelpLines.map(([example, meaning]) => (
          <div key={example}>
            <dt>
              <code className="rounded-sm bg-sunken px-1 font-mono text-xs">{example}</code>
            </dt>
            <dd className="text-muted">{meaning}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-3 border-t border-line pt-3 text-muted">{strings.searchHelpNote}</p>
    </div>
  )
}
