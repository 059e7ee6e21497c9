export const Logo = () => (
  <svg className="logo" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path d="M9 10c0 9 14 3 14 12" />
    <circle cx="9" cy="9" r="3.4" />
    <circle cx="23" cy="23" r="3.4" />
  </svg>
)
