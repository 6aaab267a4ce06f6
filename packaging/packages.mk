# make deb, make rpm and make dist: packages of the parts that install.mk tells, and releases.

CYCLONEDX := $(GO) run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

.PHONY: deb rpm dist tarball

# All that is in packages is as old as what was committed last.
deb rpm dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)

# The packages for Debian, in build/deb, for the Slurm whose headers are installed.
DEBDIR := build/deb
deb: build
	@$(GO) run ./test/cluster/cmd/slurmlab install dpkg-dev
	rm -rf $(DEBDIR)
	$(MAKE) install parts DESTDIR=$(abspath $(DEBDIR))/stage OUT=$(DEBDIR)/parts PREFIX=/usr \
	  ZSHCOMPDIR=/usr/share/zsh/vendor-completions
	VERSION=$(VERSION) packaging/debian/build $(DEBDIR)/stage $(DEBDIR)/parts $(DEBDIR)
	rm -rf $(DEBDIR)/stage $(DEBDIR)/parts

# The sources, as they are committed.
TARBALL = build/varq-$(VERSION).tar.gz
tarball:
	@mkdir -p build
	git -c tar.umask=0022 archive --prefix=varq-$(VERSION)/ HEAD | gzip -9n > $(TARBALL)

# The packages of varq.spec, in build/rpm/RPMS, of what is committed. RPMFLAGS is handed on to rpmbuild.
RPMTOP := $(CURDIR)/build/rpm
rpm: tarball
	@command -v rpmbuild >/dev/null || $(GO) run ./test/cluster/cmd/slurmlab install rpm
	rm -rf $(RPMTOP)
	mkdir -p $(RPMTOP)/SOURCES
	cp $(TARBALL) $(RPMTOP)/SOURCES
	rpmbuild -bb --define '_topdir $(RPMTOP)' --define 'varq_version $(VERSION)' \
	  --define "slurm_version $$(packaging/slurm-version)" \
	  --define 'slurm_plugindir $(SLURM_PLUGINDIR)' $(RPMFLAGS) varq.spec
	@find $(RPMTOP)/RPMS -name '*.rpm'

# A release, in build/dist: the sources, what make install writes, the packages, varq in one file for users of clusters
# without varqd, a software bill of materials of each command, and the sums of all. All is built from the sources that are in it, so that who builds it again gets the same, bit by bit.
DIST := $(CURDIR)/build/dist
UNPACKED = build/varq-$(VERSION)
BINARIES = varq-$(VERSION)-linux-$(shell $(GO) env GOARCH).tar
dist: rpm
	rm -rf $(DIST) $(UNPACKED)
	tar -C build -xf $(TARBALL)
	$(MAKE) -C $(UNPACKED) deb DEBDIR=$(DIST)
	$(MAKE) -C $(UNPACKED) install DESTDIR=$(CURDIR)/$(UNPACKED)/stage
	tar -C $(UNPACKED)/stage --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$$SOURCE_DATE_EPOCH -cf $(DIST)/$(BINARIES) .
	gzip -9n $(DIST)/$(BINARIES)
	for command in $(notdir $(COMMANDS)); do \
	  $(CYCLONEDX) bin -json -std -noserial -notimestamp -version v$(VERSION) \
	    -output $(DIST)/$$command-$(VERSION).cdx.json $(UNPACKED)/bin/$$command || exit 1; \
	done
	find $(RPMTOP)/RPMS -name '*.rpm' -exec cp -t $(DIST) {} +
	cp $(UNPACKED)/bin/varq-alone $(DIST)/varq-alone-$(VERSION)-linux-$(shell $(GO) env GOARCH)
	cp $(TARBALL) $(DIST)
	cd $(DIST) && sha256sum -- * > ../SHA256SUMS && mv ../SHA256SUMS .
	rm -rf $(UNPACKED)
