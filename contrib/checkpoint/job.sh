#!/bin/bash
#SBATCH --job-name=count
#SBATCH --time=2:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#
# An hour of work that loses little when its node fails: sbatch job.sh, in this folder.

exec varq-wrapper --checkpoint-signal=B:USR1 --checkpoint-cost=1s --checkpoint-interval=30s -- ./count 3600 count.checkpoint
