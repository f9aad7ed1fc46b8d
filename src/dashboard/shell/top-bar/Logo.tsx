/** The sign of Mailroom; the name stands beside it or in the window's title. */
export function Logo({ className = 'size-6' }: { readonly className?: string }) {
  return (
    <svg viewBox="0 0 32 32" className={`shrink-0 ${className}`} aria-hidden="true">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path
        d="M7 11.5 16 18l9-6.5M8.5 9h15A1.5 1.5 0 0 1 25 10.5v11a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 7 21.5v-11A1.5 1.5 0 0 1 8.5 9Z"
        fill="none"
        stroke="#ffffff"
        strokeWidth="2"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  )
}
