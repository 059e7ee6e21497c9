/** What scripts/build-dashboard.ts says of the files that it made, in `manifest.json` beside them. */
export interface DashboardManifest {
  /** The media type of each file in `assets/`, by its hashed name. */
  readonly files: Readonly<Record<string, string>>
}
