-- dependency is what the job of a plan waits for, as of sbatch --dependency, or is empty.
ALTER TABLE plans ADD COLUMN dependency TEXT NOT NULL DEFAULT '';
